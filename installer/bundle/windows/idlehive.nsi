; Installs Idlehive for one person, without administrator rights. Defined outside: VERSION, PAYLOAD (a folder), OUT.
Unicode true
Target amd64-unicode
!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Idlehive"
!define CLASSES "Software\Classes"
!define PROGRAM '"$INSTDIR\python\pythonw.exe" -I "$INSTDIR\idlehive"'

Name "Idlehive"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Idlehive"
InstallDirRegKey HKCU "Software\Idlehive" "Folder"
RequestExecutionLevel user
ManifestSupportedOS Win10
ManifestDPIAware true
SetCompressor /SOLID lzma
SetCompressorDictSize 64  ; MB: many files are the same in the image for WSL
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Idlehive"
VIAddVersionKey "FileDescription" "Idlehive"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "The Idlehive contributors, Apache-2.0"

!define MUI_ICON "${PAYLOAD}\idlehive.ico"
!define MUI_UNICON "${PAYLOAD}\idlehive.ico"
!define MUI_FINISHPAGE_RUN "$INSTDIR\python\pythonw.exe"
!define MUI_FINISHPAGE_RUN_PARAMETERS '-I $\"$INSTDIR\idlehive$\"'
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "French"
!insertmacro MUI_LANGUAGE "Spanish"
!insertmacro MUI_LANGUAGE "PortugueseBR"
!insertmacro MUI_LANGUAGE "SimpChinese"

; Folders of the same names may be somebody else's: a folder is Idlehive's, new or empty, or Idlehive gets one inside it.
Function ChooseFolder
  ${Do}
    ${If} ${FileExists} "$INSTDIR\package.json"
    ${AndIf} ${FileExists} "$INSTDIR\idlehive.ico"
      ${Break}
    ${EndIf}
    ${DirState} "$INSTDIR" $0
    ${If} $0 <> 1  ; 1: it has files
      ${Break}
    ${EndIf}
    StrCpy $INSTDIR "$INSTDIR\Idlehive"
  ${Loop}
FunctionEnd

; What runs ends in order: the session, the engine and its windows. What marks the folder as Idlehive's goes last.
!macro EndAndDelete
  IfFileExists "$INSTDIR\idlehive" 0 +2
    nsExec::Exec '"$INSTDIR\python\python.exe" -I "$INSTDIR\idlehive" quit'
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\bin"
  RMDir /r "$INSTDIR\core"
  RMDir /r "$INSTDIR\lib"
  RMDir /r "$INSTDIR\python"
  RMDir /r "$INSTDIR\resources"
  RMDir /r "$INSTDIR\wsl"
  Delete "$INSTDIR\idlehive"
  Delete "$INSTDIR\idlehive.cmd"
  Delete "$INSTDIR\idlehive.ico"
  Delete "$INSTDIR\package.json"
!macroend

Section "Idlehive"
  Call ChooseFolder
  !insertmacro EndAndDelete
  SetOutPath "$INSTDIR"
  File "${PAYLOAD}/package.json" "${PAYLOAD}/idlehive.ico"  ; first: they mark the folder, even if the rest fails
  File /r "${PAYLOAD}/*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Idlehive.lnk" "$INSTDIR\python\pythonw.exe" '-I "$INSTDIR\idlehive"' "$INSTDIR\idlehive.ico"

  WriteRegStr HKCU "Software\Idlehive" "Folder" "$INSTDIR"
  ; Links idlehive:https://…
  WriteRegStr HKCU "${CLASSES}\idlehive" "" "URL:Idlehive"
  WriteRegStr HKCU "${CLASSES}\idlehive" "URL Protocol" ""
  WriteRegStr HKCU "${CLASSES}\idlehive\DefaultIcon" "" "$INSTDIR\idlehive.ico"
  WriteRegStr HKCU "${CLASSES}\idlehive\shell\open\command" "" '${PROGRAM} open "%1"'
  ; Project files
  WriteRegStr HKCU "${CLASSES}\.idlehive" "" "Idlehive.Project"
  WriteRegStr HKCU "${CLASSES}\.idlehive" "Content Type" "application/x-idlehive-project+json"
  WriteRegStr HKCU "${CLASSES}\Idlehive.Project" "" "Idlehive project"
  WriteRegStr HKCU "${CLASSES}\Idlehive.Project\DefaultIcon" "" "$INSTDIR\idlehive.ico"
  WriteRegStr HKCU "${CLASSES}\Idlehive.Project\shell\open\command" "" '${PROGRAM} open "%1"'
  ; The list of installed programs
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Idlehive"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\idlehive.ico"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The Idlehive contributors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

; The profile stays, as with `apt remove`: "Remove everything" in Settings deletes it.
Section "Uninstall"
  !insertmacro EndAndDelete
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Idlehive.lnk"
  Delete "$SMSTARTUP\idlehive.cmd"
  DeleteRegKey HKCU "${CLASSES}\idlehive"
  DeleteRegKey HKCU "${CLASSES}\.idlehive"
  DeleteRegKey HKCU "${CLASSES}\Idlehive.Project"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  DeleteRegKey HKCU "Software\Idlehive"
SectionEnd
